import { createInterface } from 'node:readline/promises'
import { addAbortSignal, Writable } from 'node:stream'
import { UsageError } from './failure.ts'

export const isInteractive = () => Boolean(process.stdin.isTTY && process.stderr.isTTY)

/** Asks whoever sits there; a program that runs the command gets told which option to give. */
export async function ask(question: string, option: string, signal: AbortSignal, otherwise = ''): Promise<string> {
  if (!isInteractive()) throw new UsageError(`${option} is missing, and nobody is there to be asked.`)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const hint = otherwise ? ` (${otherwise})` : ''
    return (await lines.question(`${question}${hint}: `, { signal })).trim() || otherwise
  } finally {
    lines.close()
  }
}

/** What is typed is not shown. */
export async function askSecretly(question: string, option: string, signal: AbortSignal): Promise<string> {
  if (!isInteractive()) throw new UsageError(`${option} is missing, and nobody is there to be asked.`)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  // In terminal mode readline turns the terminal's own echo off and writes what is typed to `output`.
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
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

/** All of stdin. */
export async function stdin(signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of addAbortSignal(signal, process.stdin)) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** The one line that was piped in. */
export const stdinLine = async (signal: AbortSignal) => (await stdin(signal)).toString().replace(/\r?\n$/, '')
