import { api } from '@baton/protocol'
import { tool } from './tool.ts'

/** Issues, projects and comments. */
export const trackerTools = [
  tool(
    'list_issues',
    api.listIssues,
    'Find issues, newest first. Combine the filters; query searches title, description and code. Answers {data, next_cursor}; while next_cursor is not null, call again with it as cursor. Returns whole issues, so keep limit small when you only look for one.',
  ),
  tool(
    'get_issue',
    api.getIssue,
    'Read one issue with all its fields, by its id or by its code such as ENG-12. Its comments come from list_comments, its past changes from list_issue_history.',
  ),
  tool(
    'create_issue',
    api.createIssue,
    'Create an issue and get it back with its id, code and url. Search with list_issues first, so that you do not create a duplicate. An app must name a team_id it is installed for, may begin in backlog, todo, in_progress or qa, and may not set delegate_id. time_estimate is a number in the unit the team uses.',
  ),
  tool(
    'update_issue',
    api.updateIssue,
    'Change an issue: only the fields you send change, null clears a field, and a list replaces the one before. An app may move it to in_progress or qa only, and may not send delegate_id at all. A person delegates by setting delegate_id to the id of an agent from list_agents. Returns the issue as it is now.',
  ),
  tool(
    'delete_issue',
    api.deleteIssue,
    'Delete an issue with its comments, for good. Agent sessions on it end. Only when somebody asked for exactly this; to close an issue, update its status.',
  ),
  tool(
    'list_issue_history',
    api.listIssueHistory,
    'Read who changed what in an issue, newest first: each entry has the actor and every changed field with its value before (from) and after (to).',
  ),

  tool(
    'list_projects',
    api.listProjects,
    'List projects, newest first, with status, health, progress (per cent of issues done, null without issues) and teams. Answers {data, next_cursor}.',
  ),
  tool('get_project', api.getProject, 'Read one project with all its fields.'),
  tool(
    'create_project',
    api.createProject,
    'Create a project and get it back with its id and url. The caller owns it unless owner_id names somebody. An app must name team_ids it is installed for.',
  ),
  tool(
    'update_project',
    api.updateProject,
    'Change a project: only the fields you send change, null clears a field, and a list replaces the one before. progress follows from its issues and cannot be set.',
  ),
  tool(
    'delete_project',
    api.deleteProject,
    'Delete a project with its comments and milestones, for good; its issues stay. Only when somebody asked for exactly this.',
  ),

  tool(
    'list_comments',
    api.listComments,
    'Read the discussion of one issue or project, oldest first. parent_comment_id tells threads apart. Answers {data, next_cursor}.',
  ),
  tool('get_comment', api.getComment, 'Read one comment, such as the one that an agent session began with.'),
  tool(
    'create_comment',
    api.createComment,
    'Comment on an issue or project, in Markdown, or reply in a thread with parent_comment_id. Write @[Display Name](usr_…) to mention somebody; mentioning an agent hands the thread to it. In an agent session of your own, answer with post_activity instead.',
  ),
  tool(
    'update_comment',
    api.updateComment,
    'Change the text of a comment of your own, or mark a thread as resolved with is_resolved.',
  ),
  tool('delete_comment', api.deleteComment, 'Delete a comment of your own, with the replies to it, for good.'),
]
