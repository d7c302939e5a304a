const second = 1000

/** How much one piece of work may take of a model. Where one is met, the agent says so (docs/guides/managing-agents.md). */
export const bounds = {
  /** Answers of the model. */
  answers: 12,
  /** From the first question to the last word. */
  workMs: 300 * second,
  /** For one answer, all of it. */
  answerMs: 60 * second,
  answerBytes: 1024 * 1024,
  /** In one answer. */
  calls: 8,
  /** Of what one tool answers. */
  resultCharacters: 16_000,
  /** Of all that is sent with one question, tools apart. */
  conversationBytes: 384 * 1024,
  /** Of what was said in the session before: the latest. */
  earlierCharacters: 24_000,
  earlierMessages: 200,
  /** Of what was done before an interruption; two for each call of two attempts are fewer. */
  earlierActions: 400,
  guidanceCharacters: 24_000,
  /** Of one question, when the model is busy or away. */
  tries: 3,
  retryMs: [2 * second, 8 * second],
  /** A model that wants more is not waited for. */
  longestWaitMs: 30 * second,
}
