import { api } from '@baton/protocol'
import { tool } from './tool.ts'

/** Labels, milestones, cycles and initiatives, which issues and projects refer to by id. */
export const planningTools = [
  tool('list_labels', api.listLabels, 'List the labels of the workspace, to find the ids for label_ids.'),
  tool('get_label', api.getLabel, 'Get a label by its id.'),
  tool('create_label', api.createLabel, 'Create a label. Check with list_labels first whether a suitable one exists.'),
  tool('update_label', api.updateLabel, 'Rename a label or change its colour, wherever it is used.'),
  tool('delete_label', api.deleteLabel, 'Delete a label permanently, and remove it from all issues and projects.'),

  tool('list_milestones', api.listMilestones, 'List milestones, newest first; with project_id those of one project.'),
  tool('get_milestone', api.getMilestone, 'Get a milestone by its id.'),
  tool('create_milestone', api.createMilestone, 'Create a milestone in a project, with an optional target date.'),
  tool('update_milestone', api.updateMilestone, 'Change the name or target date of a milestone; null clears the date.'),
  tool('delete_milestone', api.deleteMilestone, 'Delete a milestone permanently. Its issues are kept.'),

  tool('list_cycles', api.listCycles, 'List cycles (planning periods of a team), newest first.'),
  tool('get_cycle', api.getCycle, 'Get a cycle by its id.'),
  tool('create_cycle', api.createCycle, 'Create a cycle for a team, with optional start and end dates.'),
  tool('update_cycle', api.updateCycle, 'Change the name, start or end of a cycle; null clears a date.'),
  tool('delete_cycle', api.deleteCycle, 'Delete a cycle permanently. Its issues are kept.'),

  tool('list_initiatives', api.listInitiatives, 'List initiatives (goals shared by several projects), newest first.'),
  tool('get_initiative', api.getInitiative, 'Get an initiative by its id.'),
  tool('create_initiative', api.createInitiative, 'Create an initiative, which projects refer to as initiative_id.'),
  tool('update_initiative', api.updateInitiative, 'Change the name or the description of an initiative.'),
  tool('delete_initiative', api.deleteInitiative, 'Delete an initiative permanently. Its projects are kept.'),
]
