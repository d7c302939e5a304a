/** Why an agent cannot go on with the model, as the session says it. */
export type FailureReason = 'model_unavailable' | 'model_bad_answer' | 'model_limit_reached'

/** An expected end. The message completes "The language model …" or, for a limit, stands for itself. */
export class ModelFailure extends Error {
  readonly reason: FailureReason

  constructor(reason: FailureReason, message: string) {
    super(message)
    this.reason = reason
  }
}
