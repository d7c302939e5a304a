import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { DataDir } from '../db/data-dir.ts'

/** Of the process: done, failed, wrong usage, refused. A refused command changed nothing. */
export const exitCodes = { done: 0, failed: 1, usage: 2, refused: 3 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Ends a command with exit code 2. */
export class UsageError extends Error {}

/** Ends a command with exit code 3. Throw it only while nothing is changed. */
export class Refusal extends Error {}

/** The data of a service belongs to its user. */
export const isForbidden = (error: unknown) => (error as NodeJS.ErrnoException).code === 'EACCES'
export const asItsUser = 'Run the command as the user of the service, or as root.'

/**
 * `text`: `--name VALUE`. `path`: the same, made absolute where the command was typed, because a running service works
 * in another directory; `-` stays. `flag`: `--name`. Positional ones are given without their name, in the order of the
 * declaration.
 */
export interface Parameter {
  kind: 'text' | 'path' | 'flag'
  positional?: true
  required?: true
}

export interface Answer {
  /** Without it, the command is done. */
  exit?: ExitCode
  /** Printed with `--json`. */
  json: object
  /** Printed otherwise, one line each. */
  text: readonly string[]
}

/** What every command gets. */
export interface Call {
  arguments: Arguments
  /** From stdin, with the flag `password-stdin`. */
  password?: string
  /** Of the service, where it runs; otherwise of the command. */
  config: Config
  /** Prints a line to stderr at once, for work that takes long. Never in the answer. */
  progress(line: string): void
  /**
   * Writes bytes to stdout and waits until they are taken. The answer is then printed to stderr. Throws if the reader
   * has gone.
   */
  write(bytes: Buffer): Promise<void>
  /** Aborted when the operator ends the command, also while a running service works for it. */
  signal: AbortSignal
}

/**
 * - `configuration`: works without the database, in the process of the command.
 * - `database`: gets the database of PostgreSQL or of a stopped embedded service, opened by the command; where an embedded
 *   service runs, that process runs the command, and the command's process prints what it sends over the socket.
 *   Refused if the migrations of the database are not those of this version, or the key is wrong, unless `unchecked`;
 *   then it must write nothing, and `ctx.storage` is null.
 * - `stopped`: gets the locked data directory, without its database being open, or null with PostgreSQL. Refused while
 *   a service uses the directory. The directory is created if it does not exist.
 */
export type Command = {
  name: string
  /** Arguments as the usage shows them, such as `ID --confirm NAME`. */
  usage: string
  /** One or two sentences. */
  summary: string
  parameters: Record<string, Parameter>
} & (
  | { needs: 'configuration'; run(call: Call): Promise<Answer> }
  | { needs: 'database'; unchecked?: true; run(call: Call & { ctx: Context }): Promise<Answer> }
  | { needs: 'stopped'; run(call: Call & { dataDir: DataDir | null }): Promise<Answer> }
)

export type Values = Record<string, string | true>

/** The arguments of a command, checked against its parameters. */
export class Arguments {
  readonly values: Readonly<Values>

  constructor(values: Readonly<Values>) {
    this.values = values
  }

  /** A required parameter. */
  text(name: string): string {
    const value = this.values[name]
    if (typeof value !== 'string') throw new UsageError(`${name} is missing`)
    return value
  }

  optional(name: string): string | undefined {
    const value = this.values[name]
    return typeof value === 'string' ? value : undefined
  }

  has(name: string): boolean {
    return this.values[name] !== undefined
  }
}
