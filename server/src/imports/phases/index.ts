import { comments } from './comments.ts'
import { issues } from './issues.ts'
import type { Phase } from './phase.ts'
import { cycles, labels, milestones, projects } from './planning.ts'
import { relations } from './relations.ts'
import { teams } from './teams.ts'
import { users } from './users.ts'

/** All phases but that of files, which needs the storage. */
export const phases: readonly Phase<never>[] = [
  teams,
  users,
  labels,
  projects,
  milestones,
  cycles,
  issues,
  relations,
  comments,
] as never
