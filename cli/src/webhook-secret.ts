import { type Call, text } from './command.ts'
import { readEnv } from './env-file.ts'
import { UsageError } from './failure.ts'

export async function webhookSecret(call: Call): Promise<string> {
  const file = text(call, 'env') ?? '.env'
  const secret = text(call, 'secret') ?? process.env.WEBHOOK_SECRET ?? (await readEnv(file)).WEBHOOK_SECRET
  if (!secret) throw new UsageError(`The secret is missing. Give --secret, or set WEBHOOK_SECRET in ${file}.`)
  return secret
}
