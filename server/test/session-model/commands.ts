import type fc from 'fast-check'
import type { Command } from './command.ts'
import { burst, choose, openInThread, openOnIssue, say, stop, stopByApp, update, write } from './session-commands.ts'
import { approach, list, read, readActivities, tick, wait } from './time-and-reading-commands.ts'
import {
  assign,
  cover,
  create,
  delegate,
  edit,
  hide,
  move,
  remove,
  reply,
  thread,
  uninstall,
  unsay,
  webhook,
} from './tracker-commands.ts'

const often = <T>(times: number, item: T): T[] => Array(times).fill(item)

/** Each as often as it stands here; what ends many things is rare. */
export const commands: fc.Arbitrary<Command>[] = [
  ...often(4, create),
  ...often(14, delegate),
  ...often(10, thread),
  ...often(14, reply),
  ...often(4, edit),
  ...often(12, write),
  ...often(8, choose),
  ...often(7, stop),
  ...often(44, say),
  ...often(10, update),
  ...often(4, openOnIssue),
  ...often(6, openInThread),
  ...often(14, wait),
  ...often(16, approach),
  ...often(8, tick),
  ...often(3, cover),
  ...often(4, move),
  ...often(5, read),
  ...often(5, readActivities),
  ...often(8, list),
  ...often(5, webhook),
  ...often(3, assign),
  ...often(3, unsay),
  ...often(2, remove),
  ...often(2, burst),
  ...[hide, stopByApp, uninstall],
]
