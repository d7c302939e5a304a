import { api } from '@baton/protocol'
import { Type } from 'typebox'
import { tool } from './tool.ts'

/** Issues, projects and comments. */
export const trackerTools = [
  tool(
    'list_issues',
    api.listIssues,
    'Find issues, newest first. Combine the filters; query searches title, description and code. Returns {data, next_cursor}; while next_cursor is not null, call again with it as cursor. Returns whole issues, so use a small limit if you need only one.',
  ),
  tool(
    'get_issue',
    api.getIssue,
    'Get one issue with all its fields, by its id or by its code such as ENG-12. For its comments use list_comments, for its past changes list_issue_history.',
  ),
  tool(
    'create_issue',
    api.createIssue,
    "Create an issue. Returns it with its id, code and url. Search with list_issues first, to avoid a duplicate. An app must send a team_id it is installed for, can set the status backlog, todo, in_progress or qa, and cannot set delegate_id. time_estimate is a number in the team's unit.",
  ),
  tool(
    'update_issue',
    api.updateIssue,
    'Update an issue: only the fields you send change, null clears a field, and a list replaces the previous one. An app can set only the status in_progress or qa, and cannot send delegate_id at all. A person delegates by setting delegate_id to the id of an agent from list_agents. Returns the updated issue.',
  ),
  tool(
    'delete_issue',
    api.deleteIssue,
    'Delete an issue and its comments permanently. Agent sessions on it end. Only if a person requested exactly this; to close an issue, update its status.',
  ),
  tool(
    'list_issue_history',
    api.listIssueHistory,
    'List the changes of an issue, newest first: each entry has the actor and every changed field with its value before (from) and after (to).',
  ),

  tool(
    'list_pull_requests',
    api.listPullRequests,
    'List pull requests of connected repositories, newest first, with state, review, checks and the issues they are linked to. Send issue_id for those of one issue; branches then has its pushed branches without a pull request. Send session_id for those of an agent session.',
  ),

  tool(
    'get_file',
    api.getFile,
    'Get a file by its id, which a text contains as ![name](fil_…) or [name](fil_…): name, size and type. An image up to 5 MB is returned with it, so that you can look at it.',
    { showsFile: true },
  ),
  tool(
    'upload_file',
    api.uploadFile,
    'Upload a file of up to 700 KB as base64 in content. Send target_type and target_id to add it to an issue or project. To show it in a text, write ![name](fil_…) with the returned id.',
    { uploads: true, body: Type.Object({ content: Type.String() }, { additionalProperties: false }) },
  ),

  tool(
    'list_projects',
    api.listProjects,
    'List projects, newest first, with status, health, progress (percentage of issues done, null without issues) and teams. Returns {data, next_cursor}.',
  ),
  tool('get_project', api.getProject, 'Get one project with all its fields.'),
  tool(
    'create_project',
    api.createProject,
    'Create a project. Returns it with its id and url. The caller owns it unless owner_id is set. An app must send team_ids it is installed for.',
  ),
  tool(
    'update_project',
    api.updateProject,
    'Update a project: only the fields you send change, null clears a field, and a list replaces the previous one. progress is computed from its issues and cannot be set.',
  ),
  tool(
    'delete_project',
    api.deleteProject,
    'Delete a project with its comments and milestones permanently. Its issues are kept. Only if a person requested exactly this.',
  ),

  tool(
    'list_comments',
    api.listComments,
    'List the comments on one issue or project, oldest first. Replies have the parent_comment_id of their thread. Returns {data, next_cursor}.',
  ),
  tool('get_comment', api.getComment, 'Get one comment, such as the one that opened an agent session.'),
  tool(
    'create_comment',
    api.createComment,
    'Comment on an issue or project, in Markdown, or reply in a thread with parent_comment_id. Write @[Display Name](usr_…) to mention a person or agent; mentioning an agent opens a session for it in the thread. In your own agent session, answer with post_activity instead.',
  ),
  tool(
    'update_comment',
    api.updateComment,
    'Change the text of your own comment, or resolve a thread with is_resolved.',
  ),
  tool('delete_comment', api.deleteComment, 'Delete your own comment and its replies permanently.'),
]
