import type { LiveChange } from '@baton/protocol'
import type { Topics } from '../db/database.ts'

/** That something changed, for those who watch. They read it through the API, where permissions are asked. */
export interface Hint {
  workspace_id: string
  type: LiveChange['type']
  id: string
  action: LiveChange['action']
  /** The issue or project that a comment or agent session belongs to. */
  parent_id?: string | null
  /** The one person who may know. */
  only?: string | null
  /** The one person to whom it is not so. */
  except?: string | null
}

/** A transaction, or the database itself for a write that is a statement of its own. */
export interface Teller {
  tell(topic: 'live', news: Iterable<Topics['live']>): void
}

export const tellLive = (teller: Teller, hints: Hint[]) =>
  teller.tell(
    'live',
    hints.map((hint) => JSON.stringify(hint)),
  )

interface Privacy {
  personal: boolean
  /** Whose it is, if it is personal. */
  personalOf: string | null
}

/**
 * Of an item that nothing is recorded about: for all, or for its owner alone where it is personal. If it was shared
 * until now, it is gone for everybody else.
 */
export function hintsOf(item: Hint, { personal, personalOf }: Privacy, wasShared = false): Hint[] {
  // No id is empty: what belongs to nobody is nobody's news.
  const owner = personalOf ?? ''
  const seen = personal ? { ...item, only: owner } : item
  return wasShared ? [{ ...item, action: 'remove', except: owner }, seen] : [seen]
}

/** An inbox has the id of its owner, who reads all of it again. */
export const hintOfInbox = (workspaceId: string, userId: string): Hint => ({
  workspace_id: workspaceId,
  type: 'Inbox',
  id: userId,
  action: 'update',
  only: userId,
})

/** Of the small lists that browsers keep whole and read again: those of the workspace, or those of its agents. */
export const hintOfLists = (workspaceId: string, type: 'Workspace' | 'Agents', only: string | null = null): Hint => ({
  workspace_id: workspaceId,
  type,
  id: workspaceId,
  action: 'update',
  only,
})
