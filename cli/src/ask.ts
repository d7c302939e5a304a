import { createInterface } from 'node:readline/promises'
import { addAbortSignal, Writable } from 'node:stream'
import { UsageError } from './failure.ts'

export const isInteractive = () => Boolean(process.stdin.isTTY && process.stderr.isTTY)

/** Asks at the terminal. Without one, throws and names the option to give. */
export async function ask(question: string, option: string, signal: AbortSignal, defaultAnswer = ''): Promise<string> {
  if (!isInteractive()) throw new UsageError(`${option} is required when there is no terminal.`)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const hint = defaultAnswer ? ` (${defaultAnswer})` : ''
    return (await lines.question(`${question}${hint}: `, { signal })).trim() || defaultAnswer
  } finally {
    lines.close()
  }
}

/** Asks without echo. */
export async function askPassword(question: string, option: string, signal: AbortSignal): Promise<string> {
  if (!isInteractive()) throw new UsageError(`${option} is required when there is no terminal.`)
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() })
  // In terminal mode readline turns the terminal's own echo off and writes what is typed to `output`.
  const lines = createInterface({ input: process.stdin, output: discard, terminal: true })
  process.stderr.write(`${question}: `)
  // Without echo the terminal also sends Ctrl-C as a character.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    return await lines.question('', { signal })
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}

export async function stdin(signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of addAbortSignal(signal, process.stdin)) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

export const stdinLine = async (signal: AbortSignal) => (await stdin(signal)).toString().replace(/\r?\n$/, '')
