import type { LiveChange } from '@baton/protocol'
import type { Topics } from '../db/database.ts'

/** Tells watchers that something changed. They read it through the API, which checks permissions. */
export interface Hint {
  workspace_id: string
  type: LiveChange['type']
  id: string
  action: LiveChange['action']
  /** The issue or project that a comment or agent session belongs to. */
  parent_id?: string | null
  /** The only user who receives this hint. */
  only?: string | null
  /** User excluded from this hint. */
  except?: string | null
}

/** A transaction, or the database for a write that is a single statement. */
export interface HintSender {
  afterCommit(topic: 'live', messages: Iterable<Topics['live']>): void
}

export const sendHints = (sender: HintSender, hints: Hint[]) =>
  sender.afterCommit(
    'live',
    hints.map((hint) => JSON.stringify(hint)),
  )

interface Privacy {
  personal: boolean
  /** Owner of a personal item. */
  personalOf: string | null
}

/**
 * Hints for a change that is not recorded as an event: for all members, or only for the owner of a personal item. If the
 * item was shared before, it is removed for all other members.
 */
export function hintsOf(item: Hint, { personal, personalOf }: Privacy, wasShared = false): Hint[] {
  // No user has an empty id, so a personal item without an owner has no recipient.
  const owner = personalOf ?? ''
  const seen = personal ? { ...item, only: owner } : item
  return wasShared ? [{ ...item, action: 'remove', except: owner }, seen] : [seen]
}

/** Its id is that of the owner, whose browser reloads the whole inbox. */
export const hintOfInbox = (workspaceId: string, userId: string): Hint => ({
  workspace_id: workspaceId,
  type: 'Inbox',
  id: userId,
  action: 'update',
  only: userId,
})

/** For small lists that browsers reload as a whole: the lists of the workspace, or the lists of its agents. */
export const hintOfLists = (workspaceId: string, type: 'Workspace' | 'Agents', only: string | null = null): Hint => ({
  workspace_id: workspaceId,
  type,
  id: workspaceId,
  action: 'update',
  only,
})
