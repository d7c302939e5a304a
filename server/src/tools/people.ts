import { api } from '@baton/protocol'
import { tool } from './tool.ts'

/** Who is calling, where, and who else is there. */
export const peopleTools = [
  tool(
    'get_me',
    api.getMe,
    'Learn who you act as: a person with their workspaces, or an app with its user and installation. Everything you write is attributed to that user.',
  ),
  tool(
    'get_workspace',
    api.getWorkspace,
    'Read the workspace you work in, with the guidance that it gives to every agent.',
  ),
  tool(
    'list_members',
    api.listMembers,
    'List the people of the workspace, newest first, with their roles. To choose an assignee, select_users is shorter.',
  ),
  tool(
    'list_teams',
    api.listTeams,
    'List the teams you can see, newest first, with key, guidance for agents, and repositories.',
  ),
  tool('select_teams', api.selectTeams, 'List id, key and name of the teams that you can create issues in.'),
  tool('get_team', api.getTeam, 'Read one team, with its guidance for agents and its repositories.'),
  tool('list_team_members', api.listTeamMembers, 'List the members of a team, with the apps installed for it.'),
  tool(
    'select_users',
    api.selectUsers,
    'Find people and agents by name with query, for assignee_id, member_ids or a mention. With issue_id or team_id, available says whether an agent can take work there.',
  ),
  tool(
    'list_agents',
    api.listAgents,
    'List agents that work can be delegated to, with available and, if not, unavailable_reason. Set include_apps for installed apps and include_deployment for the built-in agent; without them they are left out.',
  ),
]
