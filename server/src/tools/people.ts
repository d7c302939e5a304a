import { api } from '@baton/protocol'
import { tool } from './tool.ts'

/** The caller, the workspace, its teams, people and agents. */
export const peopleTools = [
  tool(
    'get_me',
    api.getMe,
    'Get the identity you act as: a person with their workspaces, or an app with its user and installation. Everything you write is attributed to that user.',
  ),
  tool('get_workspace', api.getWorkspace, 'Get the current workspace, with its guidance for all agents.'),
  tool(
    'list_members',
    api.listMembers,
    'List the members of the workspace, newest first, with their roles. To choose an assignee, use select_users, which returns less.',
  ),
  tool(
    'list_teams',
    api.listTeams,
    'List the teams you can see, newest first, with key, guidance for agents, and repositories.',
  ),
  tool('select_teams', api.selectTeams, 'List id, key and name of the teams in which you can create issues.'),
  tool('get_team', api.getTeam, 'Get one team, with its guidance for agents and its repositories.'),
  tool('list_team_members', api.listTeamMembers, 'List the members of a team and the apps installed for it.'),
  tool(
    'select_users',
    api.selectUsers,
    'Find people and agents by name with query, for assignee_id, member_ids or a mention. With issue_id or team_id, available tells whether an agent accepts work there.',
  ),
  tool('get_user', api.getUser, 'Get a person or agent by its id, such as an assignee_id or delegate_id.'),
  tool(
    'list_agents',
    api.listAgents,
    'List agents to delegate work to, with available and unavailable_reason. Set include_apps to include installed apps and include_deployment to include the built-in agent.',
  ),
]
