import { type Logger, pino } from 'pino'

export type { Logger }

/** One JSON line per entry. Nothing here may ever be given a token, a password or a body. */
export const createLog = (level: 'info' | 'warn' | 'silent'): Logger => pino({ level, base: null })
