import type { RouteName } from '@baton/protocol'
import { peopleTools } from './people.ts'
import { planningTools } from './planning.ts'
import { sessionTools } from './sessions.ts'
import type { Tool } from './tool.ts'
import { trackerTools } from './tracker.ts'

/** Everything a model can do here, in the order it reads it. Only what tokens may call: the rest is for people. */
export const tools: readonly Tool[] = [...peopleTools, ...trackerTools, ...planningTools, ...sessionTools]

/** What tokens may call and is no tool, and why. */
export const noTool: Partial<Record<RouteName, string>> = {
  callMcp: 'it is how tools are called',
}

type Kind = 'app' | 'person'

/** What this kind of caller can do at all; what they lack a scope for answers as it does over HTTP. */
export const toolsFor = (kind: Kind) => tools.filter((tool) => (tool.for ?? kind) === kind)

/** Somebody else's tool is found too, so that calling it is refused as calling its operation is. */
export const findTool = (kind: Kind, name: string): Tool | undefined =>
  toolsFor(kind).find((tool) => tool.name === name) ?? tools.find((tool) => tool.name === name)
