import { readFile } from 'node:fs/promises'
import { stdin } from '../ask.ts'
import { type Call, type Command, count, positionals, text } from '../command.ts'
import { readEnv } from '../env-file.ts'
import { Failure, UsageError } from '../failure.ts'
import { examine, type Step } from '../signature.ts'

export const verify: Command = {
  name: 'verify',
  summary: 'check the signature of a delivery that you saved, step by step',
  usage: ['--signature HEX [--body FILE] [--secret SECRET | --env FILE]'],
  about: `The body is read from stdin if there is no --body. The secret is looked for in --secret, then WEBHOOK_SECRET of
the environment, then WEBHOOK_SECRET of --env (.env if left out); other users of the machine can see --secret.`,
  example: 'baton verify --body delivery.json --signature 5f2c…',
  options: {
    signature: { type: 'string', value: 'HEX', about: 'what Svc-Signature said' },
    body: { type: 'string', value: 'FILE', about: 'the bytes that came' },
    secret: { type: 'string', value: 'SECRET', about: 'webhook secret, begins pwhsec_' },
    env: { type: 'string', value: 'FILE', about: 'file with WEBHOOK_SECRET' },
    at: { type: 'string', value: 'TIME', about: 'when it came; now if left out' },
    tolerance: { type: 'string', value: 'SECONDS', about: 'how old it may be; 60 if left out' },
  },
  async run(call) {
    positionals(call.args)
    const signature = text(call, 'signature') ?? ''
    const secret = await webhookSecret(call)
    const file = text(call, 'body')
    const rawBody = file === undefined ? await stdin(call.signal) : await bytesOf(file)
    const toleranceMs = count(call, 'tolerance', 0, 60) * 1000
    const steps = examine({ rawBody, signature, secret, now: timeOf(call), toleranceMs })
    const failed = steps.find(({ ok }) => !ok)
    call.terminal.result({ ok: !failed, steps }, words(steps))
    if (!failed) return
    process.exitCode = 1
    call.terminal.note(`Not verified: ${failed.problem}${failed.advice ? `\n${failed.advice}` : ''}`)
  },
}

/** Also of `doctor`. */
export async function webhookSecret(call: Call): Promise<string> {
  const file = text(call, 'env') ?? '.env'
  const secret = text(call, 'secret') ?? process.env.WEBHOOK_SECRET ?? (await readEnv(file)).WEBHOOK_SECRET
  if (!secret) throw new UsageError(`The secret is missing: --secret, or WEBHOOK_SECRET in ${file}.`)
  return secret
}

const bytesOf = (file: string) =>
  readFile(file).catch(() => {
    throw new Failure(`${file} cannot be read.`)
  })

function timeOf(call: Call): Date {
  const at = text(call, 'at')
  if (at === undefined) return new Date()
  const time = new Date(/^\d+$/.test(at) ? Number(at) : at)
  if (Number.isNaN(time.getTime())) throw new UsageError(`--at ${at} is no time.`)
  return time
}

const words = (steps: Step[]) => steps.map(({ ok, step }) => `${ok ? 'ok    ' : 'FAILED'}  ${titles[step]}`).join('\n')

const titles: Record<Step['step'], string> = {
  signature_present: 'there is a signature of 64 hexadecimal digits',
  signature_fits: 'it is the HMAC-SHA256 of these bytes with this secret',
  is_json: 'the bytes are a JSON object with webhook_timestamp',
  is_fresh: 'webhook_timestamp is close to the time it came',
}
