/** The `reason_code` of the error activity. */
export type FailureReason = 'model_unavailable' | 'model_bad_answer' | 'model_limit_reached'

/** An expected failure. The message completes "The language model …"; for a limit it is a complete sentence. */
export class ModelFailure extends Error {
  readonly reason: FailureReason

  constructor(reason: FailureReason, message: string) {
    super(message)
    this.reason = reason
  }
}
