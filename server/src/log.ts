import { type Logger, pino } from 'pino'

export type { Logger }

/** One JSON line per entry. Never log a token, a password or a body. */
export const createLog = (level: 'info' | 'warn' | 'silent'): Logger => pino({ level, base: null })
