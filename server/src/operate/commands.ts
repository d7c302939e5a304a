import { backupCommands } from './backup-commands.ts'
import type { Command } from './command.ts'
import { doctor } from './doctor.ts'
import { erasePersonCommand } from './erase-command.ts'
import { filesCheck, resetLink } from './links-and-files.ts'
import { createOwner, resetPassword, setRole } from './people.ts'
import { rotateKey } from './rotate-key.ts'
import { status } from './status.ts'
import { deleteWorkspace, listWorkspaces } from './workspaces.ts'

/** In the order of the usage. */
export const commands: readonly Command[] = [
  status,
  listWorkspaces,
  createOwner,
  resetPassword,
  setRole,
  deleteWorkspace,
  erasePersonCommand,
  rotateKey,
  ...backupCommands,
  doctor,
  resetLink,
  filesCheck,
]
