/** What a model needs to know about a field beyond its schema, by the field's name. */

/** Those that name what the tool is about. */
export const paramHints: Record<string, string> = {
  issue_id: 'The id (iss_…) or the code (such as ENG-12) of the issue',
  session_id: 'The id (sess_…) of the agent session',
}

export const fieldHints: Record<string, string> = {
  cursor: 'The next_cursor of the page before; leave it out for the first page',
  agent_id: 'The id (usr_…) of the agent whose sessions are meant',
  after_seq: 'Only activities after this seq',
  assignee_id: 'The id (usr_…) of the person who is accountable',
  delegate_id: 'The id (usr_…) of the agent that the issue is delegated to',
  parent_id: 'The id (iss_…) of the issue that it is a part of',
  description: 'Markdown',
  text: 'Markdown',
  target_id: 'The id of the issue or project',
  internal: 'Hidden from apps',
  personal: 'Seen by its owner alone',
  blocks_ids: 'Ids of the issues that cannot go on before this one is done',
  blocked_by_ids: 'Ids of the issues that must be done before this one',
  sort_order: 'Where it stands in lists that people order by hand',
  ephemeral: 'Replaced in view by the next activity; for a thought or an action only',
  idempotency_key: 'The same key with the same content again answers the first activity instead of posting another',
}
