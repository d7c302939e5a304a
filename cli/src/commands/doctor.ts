import { type Call, type Command, count, positionals, text } from '../command.ts'
import { checks, type Fault, unseen } from '../doctor/checks.ts'
import { type Answer, ping, type Receiver, send, sign } from '../doctor/probe.ts'
import { checkSetup, type SetupFinding } from '../doctor/setup.ts'
import { Failure } from '../failure.ts'
import { webhookSecret } from '../secrets.ts'
import type { Terminal } from '../terminal.ts'
import { httpUrl } from '../urls.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'check your setup, or test your receiver with valid and invalid deliveries',
  usage: ['[--env FILE]', '--url URL [--secret SECRET | --env FILE]'],
  about: `Without --url, checks login, clock and versions, and for the agent of this directory its secrets, installation and
tokens. Sends one ping to it.
With --url, sends signed deliveries about a session that does not exist; a running agent will look it up and find nothing.
The secret is read from --secret, from WEBHOOK_SECRET in the environment, or from WEBHOOK_SECRET in --env (default:
.env). Other users of this machine can see the value of --secret. Baton does not have to run.`,
  example: 'doctor --url http://localhost:4000/webhook',
  options: {
    url: { type: 'string', value: 'URL', about: 'URL of your receiver' },
    secret: { type: 'string', value: 'SECRET', about: 'webhook secret, starts with pwhsec_' },
    env: { type: 'string', value: 'FILE', about: 'file with the settings of the agent (default: .env)' },
    slow: { type: 'string', value: 'MS', about: 'slowest accepted answer in ms (default: 5000, as in Baton)' },
  },
  async run(call) {
    positionals(call.args)
    const given = text(call, 'url')
    if (given === undefined) return reportSetup(call)
    const url = httpUrl(given)
    const slowMs = count(call, 'slow', 1, 5000)
    const receiver = { url, secret: await webhookSecret(call), timeoutMs: slowMs + 5000, signal: call.signal }
    await checkReachable(receiver)
    call.terminal.line(notice)
    report(call.terminal, await examine(call, receiver, slowMs))
  },
}

const notice =
  'The deliveries belong to an installation that does not exist: an agent may log that ins_doctor has no tokens.'

interface Finding {
  name: string
  title: string
  fault: Fault | null
  skipped: boolean
}

async function reportSetup(call: Call) {
  const { terminal } = call
  const findings: SetupFinding[] = []
  for await (const finding of checkSetup(call)) {
    findings.push(finding)
    terminal.line(setupLine(terminal, finding))
  }
  const checked = findings.filter(({ ok }) => ok !== null)
  const passed = checked.filter(({ ok }) => ok).length
  const total = checked.length
  terminal.result(
    { passed, total, checks: findings },
    terminal.paint(passed === total ? 'green' : 'red', `${passed} of ${total}`),
  )
  if (passed < total) process.exitCode = 1
}

function setupLine(terminal: Terminal, { name, ok, detail, advice }: SetupFinding) {
  const mark = ok === null ? '-    ' : ok ? terminal.paint('green', 'ok   ') : terminal.paint('red', 'WRONG')
  return `${mark} ${name}: ${detail}${advice ? `\n      ${advice}` : ''}`
}

async function checkReachable(receiver: Receiver) {
  const { status, problem, tookMs } = await send(receiver, sign(receiver, ping()))
  if (status !== null || tookMs >= receiver.timeoutMs) return
  throw new Failure(`${receiver.url} cannot be reached: ${problem}.`, {
    code: 'UNREACHABLE',
    advice: 'Start your receiver and check port and path.',
  })
}

async function examine({ terminal }: Call, receiver: Receiver, slowMs: number) {
  const findings: Finding[] = []
  const answers: Answer[] = []
  for (const { name, title, needs, run } of checks) {
    if (findings.some((one) => needs.includes(one.name) && one.fault)) {
      findings.push({ name, title, fault: null, skipped: true })
      terminal.line(untested(title))
      continue
    }
    const { fault, answers: timed } = await run(receiver)
    findings.push({ name, title, fault, skipped: false })
    answers.push(...timed)
    terminal.line(line(terminal, title, fault))
  }
  const slowestMs = Math.max(...answers.map(({ tookMs }) => tookMs))
  const title = `answers within ${slowMs / 1000} s`
  const fault = slowestMs < slowMs ? null : tooSlow(slowestMs)
  // A refusal is fast, whatever the receiver does with a delivery that it accepts.
  const skipped = !fault && findings.some((one) => one.name === 'valid' && one.fault)
  findings.push({ name: 'in_time', title, fault, skipped })
  terminal.line(skipped ? untested(title) : line(terminal, `${title} (slowest ${slowestMs} ms)`, fault))
  return { findings, slowestMs }
}

const untested = (title: string) => `-     ${title}: not tested, because of a fault above`

const tooSlow = (ms: number): Fault => ({
  fault: `took ${ms} ms to answer`,
  advice: 'Answer before doing the work. After 5 s Baton counts the attempt as failed and retries.',
})

function report(terminal: Terminal, { findings, slowestMs }: { findings: Finding[]; slowestMs: number }) {
  const tested = findings.filter(({ skipped }) => !skipped)
  const total = tested.length
  const passed = tested.filter(({ fault }) => fault === null).length
  const grade = `${passed} of ${total}`
  const notVisible = unseen.map((one) => `  ${one}`).join('\n')
  terminal.result(
    { passed, total, slowest_ms: slowestMs, checks: findings, unseen },
    `${terminal.paint(passed === total ? 'green' : 'red', grade)}\nNot tested, because it is not visible from outside:\n${notVisible}`,
  )
  if (passed < total) process.exitCode = 1
}

function line(terminal: Terminal, title: string, fault: Fault | null) {
  if (!fault) return `${terminal.paint('green', 'ok   ')} ${title}`
  return `${terminal.paint('red', 'FAULT')} ${title}\n      It ${fault.fault}.\n      ${fault.advice}`
}
