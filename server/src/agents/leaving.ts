import type { Member } from '../http/caller.ts'
import { unassignLeaver } from '../issues/leaving.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { retireAgentsOf } from './personal.ts'

/** For `removeMember`: what goes with a member in the features above it. */
export const removeItemsOf = (userId: string) => async (unit: UnitOfWork<Member>) => {
  await retireAgentsOf(unit, userId)
  await unassignLeaver(unit, userId)
}
