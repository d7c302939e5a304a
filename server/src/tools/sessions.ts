import { activityBodies, api } from '@baton/protocol'
import { Type } from 'typebox'
import { tool } from './tool.ts'

const { prompt, ...ofApps } = activityBodies
const { body: change } = api.updateAgentSession

/** Agent sessions and their activities. */
export const sessionTools = [
  tool(
    'list_agent_sessions',
    api.listAgentSessions,
    'List agent sessions, newest first. An app gets its own sessions, a person all they can access. Filter by issue_id, project_id, agent_id, state, or open (true: not ended; false: ended).',
  ),
  tool(
    'get_agent_session',
    api.getAgentSession,
    'Get one agent session: its state, issue or comment, plan and links. A session with ended_at is closed and takes no more activities.',
  ),
  tool(
    'get_session_changes',
    api.getSessionChanges,
    'Get what the agent of a session changed in its repository: branch, base and the patch of each file. Only sessions with changes have it.',
  ),
  tool(
    'list_activities',
    api.listActivities,
    'List the activities of a session, oldest first: prompts by people, and thoughts, actions, questions and responses by the agent. To get only new ones, pass the last_seq of the previous result as after_seq.',
  ),
  tool(
    'open_agent_session',
    api.openAgentSession,
    "Open a session on an issue or in a comment's thread, to show work that was not delegated to you. Send issue_id or comment_id, not both. If you already have an open session in the thread, it is returned.",
    { for: 'app' },
  ),
  tool(
    'post_activity',
    api.postActivity,
    'Post an activity to one of your sessions. content.type: thought (short progress), action (action, parameter, later result), elicitation (a question; the session waits for the person, and signal select or auth offers options or a link), response (the final answer; completes the session), error (you cannot continue). Post a thought early to show that you have started. At most 10 per second in one session.',
    { for: 'app', body: Type.Union(Object.values(ofApps)) },
  ),
  tool(
    'post_activity',
    api.postActivity,
    'Send a message to the agent of a session. It continues from there; read its answers with list_activities. To answer a question with options, send signal_metadata with in_reply_to (the id of its activity) and selected (the chosen values).',
    { for: 'person', body: prompt },
  ),
  tool(
    'suggest_changes',
    api.suggestChanges,
    'Suggest changes of the issue of one of your sessions, for people to accept or decline; the issue stays as it is until then. Each has a field (priority, type, label, assignee, project, duplicate_of), a value (the priority or type, or an id) and a short reason. A new suggestion replaces your open one for the same field or label.',
    { for: 'app' },
  ),
  tool(
    'list_suggestions',
    api.listSuggestions,
    'List what agents suggested for an issue, newest first, and what people decided. Filter by state (open, accepted, declined, outdated).',
  ),
  tool(
    'update_session_plan',
    api.updateAgentSession,
    'Set the plan of one of your sessions, shown as a checklist. Send the whole plan every time; it replaces the previous one.',
    { for: 'app', body: Type.Required(Type.Pick(change, ['plan'])) },
  ),
  tool(
    'update_session_links',
    api.updateAgentSession,
    'Attach links to one of your sessions, such as a pull request: add or remove single links, or replace all with external_urls. Adding an existing url changes its label.',
    { for: 'app', body: Type.Omit(change, ['plan', 'usage']) },
  ),
  tool(
    'update_session_usage',
    api.updateAgentSession,
    'Report what one of your sessions has used so far: model, tokens and cost. Send totals of the whole session; a number cannot fall.',
    { for: 'app', body: Type.Required(Type.Pick(change, ['usage'])) },
  ),
]
