export * from './agent.ts'
export {
  type Answer,
  BatonClient,
  type CallOptions,
  type ClientOptions,
  type Credentials,
  type FlatInput,
  type Input,
  type TokenProvider,
} from './client.ts'
export { type Clock, systemClock } from './clock.ts'
export { BatonError, type BatonErrorCode, type ClientErrorCode, isBatonError } from './errors.ts'
export type { Handlers, NodeRequest, NodeResponse, Receipt } from './handlers.ts'
export * from './oauth.ts'
export type * from './operations.ts'
export type { RetryRules } from './retry.ts'
export { type RouteName, routes } from './routes.ts'
export * from './tokens.ts'
export * from './webhooks.ts'
