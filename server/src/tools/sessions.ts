import { activityBodies, api } from '@baton/protocol'
import { Type } from 'typebox'
import { tool } from './tool.ts'

const { prompt, ...ofApps } = activityBodies
const { body: change } = api.updateAgentSession

/** Agent sessions: what an agent does about one issue or thread, and what is said in it. */
export const sessionTools = [
  tool(
    'list_agent_sessions',
    api.listAgentSessions,
    'List agent sessions, newest first: an app its own, a person all they can see. Filter by issue_id, project_id, agent_id or state, or with open: true for those that go on, false for those that ended.',
  ),
  tool(
    'get_agent_session',
    api.getAgentSession,
    'Read one agent session: its state, issue or comment, plan and links. Once ended_at is set nothing more can be written to it.',
  ),
  tool(
    'list_activities',
    api.listActivities,
    'Read what was said in a session, oldest first: the prompts of people, and what the agent thought, did, asked and answered. To see only what is new, pass the last_seq of the answer before as after_seq.',
  ),
  tool(
    'open_agent_session',
    api.openAgentSession,
    "Open a session of your own on an issue, or in a comment's thread, to show work that nobody delegated to you. Send issue_id or comment_id, not both. A thread that has an open session of yours answers that one.",
    { for: 'app' },
  ),
  tool(
    'post_activity',
    api.postActivity,
    'Say something in a session of yours. content.type: thought (short progress), action (action, parameter, later result), elicitation (a question; the session waits for the person, and signal select or auth offers choices or a link), response (the final answer; completes the session), error (you cannot go on). A thought soon after the session began shows that you are there. At most 10 a second in one session.',
    { for: 'app', body: Type.Union(Object.values(ofApps)) },
  ),
  tool(
    'post_activity',
    api.postActivity,
    'Send a message to the agent of a session. It works on from there, and its answers come with list_activities. To answer a choice that it offered, send signal_metadata with in_reply_to (the id of its activity) and the selected values.',
    { for: 'person', body: prompt },
  ),
  tool(
    'update_session_plan',
    api.updateAgentSession,
    'Show the plan of a session of yours as a checklist. Send the whole plan every time; it replaces the one before.',
    { for: 'app', body: Type.Required(Type.Pick(change, ['plan'])) },
  ),
  tool(
    'update_session_links',
    api.updateAgentSession,
    'Attach links to a session of yours, such as the change you made: add or remove single ones, or replace all with external_urls. Adding a url that is there changes its label.',
    { for: 'app', body: Type.Omit(change, ['plan']) },
  ),
]
