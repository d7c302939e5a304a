import { destination, type Logger, pino } from 'pino'

export type { Logger }

/** One JSON line per entry. Never log a token, a password or a body. `file` is stdout, or 2 for stderr. */
export const createLog = (level: 'info' | 'warn' | 'silent', file: 1 | 2 = 1): Logger =>
  pino({ level, base: null }, destination({ dest: file, sync: true }))
