import type { Delivery } from '@baton/protocol'

export interface Evidence {
  /** Ids of issues whose creation was answered with 201. */
  acknowledged: string[]
  /** Ids of all issues that exist, including those whose answer was lost. */
  issueIds: string[]
  webhookIds: string[]
  deliveries: (Delivery & { webhookId: string })[]
  /** Requests at the receiver, with its answer: a status, or a word for how it failed. */
  requests: { webhookId: string; deliveryId: string; issueId: string; signed: boolean; answer: number | string }[]
  retryDelaysMs: number[]
}

export function problemsOf(evidence: Evidence): string[]
export function duplicatesOf(evidence: Pick<Evidence, 'deliveries' | 'requests'>): number
