import type { Delivery } from '@baton/protocol'

export interface Evidence {
  /** Ids of issues whose creation was answered with 201. */
  acknowledged: string[]
  /** Ids of all issues that exist, so also of those whose answer was lost. */
  issueIds: string[]
  webhookIds: string[]
  deliveries: (Delivery & { webhookId: string })[]
  /** What arrived at the receiver, and what it answered: a status, or in a word how it failed to. */
  requests: { webhookId: string; deliveryId: string; issueId: string; signed: boolean; answer: number | string }[]
  retryDelaysMs: number[]
}

export function problemsOf(evidence: Evidence): string[]
export function duplicatesOf(evidence: Pick<Evidence, 'deliveries' | 'requests'>): number
