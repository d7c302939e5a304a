import { api } from '@baton/protocol'
import { tool } from './tool.ts'

/** Labels, milestones, cycles and initiatives: what issues and projects refer to by id. */
export const planningTools = [
  tool('list_labels', api.listLabels, 'List the labels of the workspace, to find the ids for label_ids.'),
  tool('create_label', api.createLabel, 'Create a label. Look with list_labels first whether there is one that fits.'),
  tool('update_label', api.updateLabel, 'Rename a label or change its colour; it changes wherever it is used.'),
  tool('delete_label', api.deleteLabel, 'Delete a label, for good; every issue and project loses it.'),

  tool('list_milestones', api.listMilestones, 'List milestones, newest first; with project_id those of one project.'),
  tool('create_milestone', api.createMilestone, 'Create a milestone of a project, with an optional target date.'),
  tool('update_milestone', api.updateMilestone, 'Rename a milestone or move its target date; null clears the date.'),
  tool('delete_milestone', api.deleteMilestone, 'Delete a milestone, for good; its issues stay and lose it.'),

  tool('list_cycles', api.listCycles, 'List cycles (spans of time that a team plans in), newest first.'),
  tool('create_cycle', api.createCycle, 'Create a cycle of a team, with optional begin and end.'),
  tool('update_cycle', api.updateCycle, 'Rename a cycle or move its begin or end; null clears a date.'),
  tool('delete_cycle', api.deleteCycle, 'Delete a cycle, for good; its issues stay and lose it.'),

  tool('list_initiatives', api.listInitiatives, 'List initiatives (aims that several projects serve), newest first.'),
  tool('create_initiative', api.createInitiative, 'Create an initiative, for projects to name as initiative_id.'),
  tool('update_initiative', api.updateInitiative, 'Change the name or the description of an initiative.'),
  tool('delete_initiative', api.deleteInitiative, 'Delete an initiative, for good; its projects stay and lose it.'),
]
