import { type Call, type Command, count, needed, positionals } from '../command.ts'
import { checks, type Fault, unseen } from '../doctor/checks.ts'
import { type Answer, ping, type Receiver, send, sign } from '../doctor/probe.ts'
import { Failure } from '../failure.ts'
import type { Terminal } from '../terminal.ts'
import { webAddress } from './listen.ts'
import { webhookSecret } from './verify.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'fire deliveries at your receiver, good and bad, and grade it',
  usage: ['--url URL [--secret SECRET | --env FILE]'],
  about: `Sends signed deliveries about a session that does not exist; a running agent will look it up and find nothing.
The secret is looked for in --secret, then WEBHOOK_SECRET of the environment, then WEBHOOK_SECRET of --env (.env if
left out); other users of the machine can see --secret. Baton need not run.`,
  example: 'baton doctor --url http://localhost:4000/webhook',
  options: {
    url: { type: 'string', value: 'URL', about: 'where your receiver listens' },
    secret: { type: 'string', value: 'SECRET', about: 'webhook secret, begins pwhsec_' },
    env: { type: 'string', value: 'FILE', about: 'file with WEBHOOK_SECRET' },
    slow: { type: 'string', value: 'MS', about: 'what counts as a slow answer; 5000 if left out, as for Baton' },
  },
  async run(call) {
    positionals(call.args)
    const url = webAddress(needed(call, 'url', 'the address of your receiver'))
    const slowMs = count(call, 'slow', 1, 5000)
    const receiver = { url, secret: await webhookSecret(call), patienceMs: slowMs + 5000, signal: call.signal }
    await reachable(receiver)
    if (!call.terminal.json) call.terminal.note(beforehand)
    report(call.terminal, await examine(call, receiver, slowMs))
  },
}

const beforehand =
  'The deliveries name an installation that does not exist: an agent may log that there are no tokens for ins_doctor.'

interface Finding {
  name: string
  title: string
  fault: Fault | null
}

async function reachable(receiver: Receiver) {
  const { status, problem, tookMs } = await send(receiver, sign(receiver, ping()))
  if (status !== null || tookMs >= receiver.patienceMs) return
  throw new Failure(`${receiver.url} cannot be reached: ${problem}.`, {
    code: 'UNREACHABLE',
    advice: 'Start your receiver, and check port and path.',
  })
}

async function examine({ terminal }: Call, receiver: Receiver, slowMs: number) {
  const findings: Finding[] = []
  const answers: Answer[] = []
  for (const { name, title, run } of checks) {
    const { fault, answers: timed } = await run(receiver)
    findings.push({ name, title, fault })
    answers.push(...timed)
    if (!terminal.json) terminal.note(line(terminal, title, fault))
  }
  const slowestMs = Math.max(...answers.map(({ tookMs }) => tookMs))
  const title = `answers within ${slowMs / 1000} s`
  const fault = slowestMs < slowMs ? null : tooSlow(slowestMs)
  findings.push({ name: 'in_time', title, fault })
  if (!terminal.json) terminal.note(line(terminal, `${title} (slowest ${slowestMs} ms)`, fault))
  return { findings, slowestMs }
}

const tooSlow = (ms: number): Fault => ({
  fault: `took ${ms} ms to answer`,
  advice: 'Answer first and work afterwards. Baton waits 5 s, counts it as failed and sends it again.',
})

function report(terminal: Terminal, { findings, slowestMs }: { findings: Finding[]; slowestMs: number }) {
  const total = findings.length
  const passed = findings.filter(({ fault }) => fault === null).length
  const grade = `${passed} of ${total}`
  const notSeen = unseen.map((one) => `  ${one}`).join('\n')
  terminal.result(
    { passed, total, slowest_ms: slowestMs, checks: findings, unseen },
    `${terminal.paint(passed === total ? 'green' : 'red', grade)}\nWhat cannot be seen from outside:\n${notSeen}`,
  )
  if (passed < total) process.exitCode = 1
}

function line(terminal: Terminal, title: string, fault: Fault | null) {
  if (!fault) return `${terminal.paint('green', 'ok   ')} ${title}`
  return `${terminal.paint('red', 'FAULT')} ${title}\n      It ${fault.fault}.\n      ${fault.advice}`
}
