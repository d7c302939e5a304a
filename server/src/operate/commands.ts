import { backupCommands } from './backup-commands.ts'
import type { Command } from './command.ts'
import { filesCheck, resetLink } from './links-and-files.ts'

/** In the order of the usage. */
export const commands: readonly Command[] = [resetLink, filesCheck, ...backupCommands]
