import type { Context } from '../context.ts'

/** `message` says what was found; that of a warning or failure also what to do. */
export interface Finding {
  check: string
  state: 'ok' | 'warn' | 'fail'
  message: string
}

export type Check = (ctx: Context) => Promise<Omit<Finding, 'check'>>

export const ok = (message: string) => ({ state: 'ok' as const, message })
export const warn = (message: string) => ({ state: 'warn' as const, message })
export const fail = (message: string) => ({ state: 'fail' as const, message })
