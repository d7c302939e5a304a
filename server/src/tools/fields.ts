/** Descriptions of fields for the model, by field name. */

/** Path parameters. */
export const paramHints: Record<string, string> = {
  issue_id: 'The id (iss_…) or the code (such as ENG-12) of the issue',
  session_id: 'The id (sess_…) of the agent session',
}

export const fieldHints: Record<string, string> = {
  cursor: 'The next_cursor of the previous page; leave it out for the first page',
  agent_id: 'The id (usr_…) of the agent whose sessions to list',
  after_seq: 'Only activities after this seq',
  assignee_id: 'The id (usr_…) of the accountable person',
  delegate_id: 'The id (usr_…) of the agent to delegate the issue to',
  parent_id: 'The id (iss_…) of the parent issue',
  description: 'Markdown',
  text: 'Markdown',
  target_id: 'The id of the issue or project',
  internal: 'Hidden from apps',
  personal: 'Visible only to its owner',
  blocks_ids: 'Ids of the issues that this one blocks',
  blocked_by_ids: 'Ids of the issues that block this one',
  sort_order: 'Position in manually sorted lists',
  ephemeral: 'Replaced in view by the next activity; only for a thought or an action',
  idempotency_key: 'Repeating a key with the same content returns the first activity instead of posting another',
}
