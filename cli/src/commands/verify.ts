import { readFile } from 'node:fs/promises'
import { stdin } from '../ask.ts'
import { type Call, type Command, count, positionals, text } from '../command.ts'
import { Failure, UsageError } from '../failure.ts'
import { webhookSecret } from '../secrets.ts'
import { examine, type Step } from '../signature.ts'

export const verify: Command = {
  name: 'verify',
  summary: 'check the signature of a saved delivery',
  usage: ['--signature HEX [--body FILE] [--secret SECRET | --env FILE]'],
  about: `Reads the body from stdin without --body. The secret is read from --secret, from WEBHOOK_SECRET in the environment,
or from WEBHOOK_SECRET in --env (default: .env). Other users of this machine can see the value of --secret.`,
  example: 'verify --body delivery.json --signature 5f2c…',
  options: {
    signature: { type: 'string', value: 'HEX', about: 'value of the Svc-Signature header' },
    body: { type: 'string', value: 'FILE', about: 'file with the raw body' },
    secret: { type: 'string', value: 'SECRET', about: 'webhook secret, starts with pwhsec_' },
    env: { type: 'string', value: 'FILE', about: 'file with WEBHOOK_SECRET' },
    at: { type: 'string', value: 'TIME', about: 'time of arrival (default: now)' },
    tolerance: { type: 'string', value: 'SECONDS', about: 'maximum age (default: 60)' },
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
    call.terminal.result({ ok: !failed, steps }, describe(steps))
    if (!failed) return
    process.exitCode = 1
    call.terminal.note(`Not verified: ${failed.problem}${failed.advice ? `\n${failed.advice}` : ''}`)
  },
}

const bytesOf = (file: string) =>
  readFile(file).catch(() => {
    throw new Failure(`${file} cannot be read.`)
  })

function timeOf(call: Call): Date {
  const at = text(call, 'at')
  if (at === undefined) return new Date()
  const time = new Date(/^\d+$/.test(at) ? Number(at) : at)
  if (Number.isNaN(time.getTime()))
    throw new UsageError(`--at must be a time, such as 2026-01-31T12:00:00Z, not ${at}.`)
  return time
}

const describe = (steps: Step[]) =>
  steps.map(({ ok, step }) => `${ok ? 'ok    ' : 'FAILED'}  ${titles[step]}`).join('\n')

const titles: Record<Step['step'], string> = {
  signature_present: 'the signature has 64 hexadecimal digits',
  signature_fits: 'the signature is the HMAC-SHA256 of the body with the secret',
  is_json: 'the body is a JSON object with webhook_timestamp',
  is_fresh: 'webhook_timestamp is close to the time of arrival',
}
