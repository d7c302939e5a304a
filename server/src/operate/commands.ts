import type { Command } from './command.ts'
import { filesCheck, resetLink } from './links-and-files.ts'
import { createOwner, resetPassword, setRole } from './people.ts'
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
  resetLink,
  filesCheck,
]
