import type { RouteName } from '@baton/protocol'
import { peopleTools } from './people.ts'
import { planningTools } from './planning.ts'
import { sessionTools } from './sessions.ts'
import type { Tool } from './tool.ts'
import { trackerTools } from './tracker.ts'

/** All tools, in the order in which they are listed. Only operations that tokens may call are tools. */
export const tools: readonly Tool[] = [...peopleTools, ...trackerTools, ...planningTools, ...sessionTools]

/** Operations that tokens may call but that are no tools, with the reason. */
export const noTool: Partial<Record<RouteName, string>> = {
  callMcp: 'it is how tools are called',
  linearGraphql: 'it offers the same operations in the format of Linear',
  listenAsApp: 'it is a stream',
  answerAsApp: 'only the program that listens can answer',
  exportIssues: 'list_issues returns the same issues page by page',
  createIssues: 'create_issue has the same fields, and a model creates few at a time',
  getRelated: 'watchers and duplicates are for people',
  listTemplates: 'they prefill a form',
  listReactions: 'reactions are for people',
  addReaction: 'reactions are for people',
  removeReaction: 'reactions are for people',
  uploadSessionFile: 'upload_file stores files, and programs send larger ones as they are',
  getFileContent: 'get_file returns images; other content is for programs',
  createFileLink: 'it is for programs without a token',
  deleteFile: 'deleting files is for people',
  listProjectFiles: 'texts name the files that matter',
  setSessionChanges: 'git computes patches, a model does not',
}

type Kind = 'app' | 'person'

/** The tools for this kind of caller. They include tools that its scopes do not allow; calling one is refused. */
export const toolsFor = (kind: Kind) => tools.filter((tool) => (tool.for ?? kind) === kind)

/** Also finds tools of the other kind of caller, so that calling one is refused with the error of its operation. */
export const findTool = (kind: Kind, name: string): Tool | undefined =>
  toolsFor(kind).find((tool) => tool.name === name) ?? tools.find((tool) => tool.name === name)
