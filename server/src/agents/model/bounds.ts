const second = 1000

/** Limits for one piece of work. The agent reports when it reaches one (docs/guides/managing-agents.md). */
export const bounds = {
  /** Model answers per piece of work. */
  answers: 12,
  /** From the first request to the final answer. */
  workMs: 300 * second,
  /** For one complete answer. */
  answerMs: 60 * second,
  answerBytes: 1024 * 1024,
  /** Tool calls per answer. */
  calls: 8,
  /** Per tool result. */
  resultCharacters: 16_000,
  /** Messages of one request, without the tool definitions. */
  conversationBytes: 384 * 1024,
  /** Of the conversation before this work, the latest part. */
  earlierCharacters: 24_000,
  earlierMessages: 200,
  /** Actions of interrupted attempts. Two attempts with two activities per call stay below it. */
  earlierActions: 400,
  guidanceCharacters: 24_000,
  /** Attempts per request while the model is busy or unreachable. */
  tries: 3,
  retryMs: [2 * second, 8 * second],
  /** A longer Retry-After fails the work at once. */
  longestWaitMs: 30 * second,
}
