import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, Page, Timestamp } from './common.ts'
import {
  Delivery,
  DeliveryDetail,
  DeliveryQuery,
  EndpointHealth,
  EndpointState,
  PingResult,
  ResourceType,
  Rotation,
  TestEvent,
  WebhookUrl,
} from './deliveries.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Refs } from './tracker.ts'
import { WebhookFilters } from './webhook-filters.ts'

const recordFields = {
  id: id('whk'),
  label: Type.String(),
  url: Type.String(),
  all_teams: Type.Boolean(),
  /** Empty if `all_teams` is true. */
  team_ids: Type.Array(id('team')),
  resource_types: Type.Array(ResourceType),
  filters: nullable(WebhookFilters),
  state: EndpointState,
  created_by: nullable(id('usr')),
  created_at: Timestamp,
  updated_at: Timestamp,
}
export const Webhook = Type.Object(recordFields, { ...closed, title: 'Webhook' })
export type Webhook = Static<typeof Webhook>

const Secret = Type.String({ pattern: '^pwhsec_' })
const CreatedWebhook = Type.Object({ ...recordFields, secret: Secret }, { ...closed, title: 'CreatedWebhook' })
const WebhookSecret = Type.Object({ secret: Secret }, { ...closed, title: 'WebhookSecret' })
const ShownSecret = Type.Object(
  {
    secret: Secret,
    /** During the overlap of a rotation only. */
    next: Type.Optional(Type.Object({ secret: Secret, takes_over_at: Timestamp }, closed)),
  },
  { ...closed, title: 'ShownWebhookSecret' },
)
const RotatedSecret = Type.Object(
  {
    secret: Secret,
    /** With an overlap only. */
    takes_over_at: Type.Optional(Timestamp),
  },
  { ...closed, title: 'RotatedWebhookSecret' },
)

const fields = {
  label: Type.String({
    minLength: 1,
    maxLength: limits.webhookLabel,
    pattern: '\\S',
    'x-message': `must have 1 to ${limits.webhookLabel} characters and not only spaces`,
  }),
  url: WebhookUrl,
  all_teams: Type.Boolean(),
  team_ids: Refs,
  resource_types: Type.Array(ResourceType, {
    minItems: 1,
    uniqueItems: true,
    'x-message': 'must contain one or more of Issue, Comment and Project, each once',
  }),
  filters: nullable(WebhookFilters),
}
export const WebhookChange = Type.Partial(Type.Object(fields), closed)
export type WebhookChange = Static<typeof WebhookChange>
export const NewWebhook = Type.Object(
  { ...fields, team_ids: Type.Optional(Refs), filters: Type.Optional(fields.filters) },
  closed,
)
export type NewWebhook = Static<typeof NewWebhook>

export const webhooks = {
  listWebhooks: operation(routes.listWebhooks, {
    summary: 'List webhooks of the workspace, newest first',
    query: Page,
    returns: { 200: list(Webhook) },
  }),
  createWebhook: operation(routes.createWebhook, {
    summary: 'Create a webhook; the response contains its secret',
    body: NewWebhook,
    returns: { 201: CreatedWebhook },
    errors: ['WEBHOOK_LIMIT_REACHED'],
  }),
  getWebhook: operation(routes.getWebhook, { summary: 'Get a webhook', returns: { 200: Webhook } }),
  updateWebhook: operation(routes.updateWebhook, {
    summary: 'Change a webhook; pending deliveries go to the new URL',
    body: WebhookChange,
    returns: { 200: Webhook },
  }),
  deleteWebhook: operation(routes.deleteWebhook, {
    summary: 'Delete a webhook and cancel its pending deliveries',
    returns: { 204: null },
  }),
  getWebhookSecret: operation(routes.getWebhookSecret, {
    summary: 'Get the secret that signs deliveries; recorded in the audit log',
    returns: { 200: ShownSecret },
  }),
  rotateWebhookSecret: operation(routes.rotateWebhookSecret, {
    summary: 'Rotate the secret; the old one stops working at once, also for retries, or after an overlap',
    body: Rotation,
    bodyOptional: true,
    returns: { 200: RotatedSecret },
    errors: ['ROTATION_UNDER_WAY'],
  }),
  finishWebhookRotation: operation(routes.finishWebhookRotation, {
    summary: 'End the overlap of a rotation: the next secret becomes the only one at once',
    returns: { 200: WebhookSecret },
  }),
  testWebhook: operation(routes.testWebhook, {
    summary: 'Send one signed Ping or the example of an event, even while disabled, and return the result',
    body: TestEvent,
    bodyOptional: true,
    returns: { 200: PingResult },
    errors: ['RATE_LIMIT_EXCEEDED'],
  }),
  enableWebhook: operation(routes.enableWebhook, {
    summary: 'Enable a webhook and send its held deliveries',
    returns: { 200: Webhook },
  }),
  disableWebhook: operation(routes.disableWebhook, {
    summary: 'Disable a webhook and hold its pending deliveries',
    returns: { 200: Webhook },
  }),
  getWebhookHealth: operation(routes.getWebhookHealth, {
    summary: 'Get the health of a webhook: attempts of the last 14 days, last failure, held deliveries',
    returns: { 200: EndpointHealth },
  }),
  listWebhookDeliveries: operation(routes.listWebhookDeliveries, {
    summary: 'List deliveries of a webhook with their attempts, newest first',
    query: DeliveryQuery,
    returns: { 200: list(Delivery) },
  }),
  getWebhookDelivery: operation(routes.getWebhookDelivery, {
    summary: 'Get a delivery and its last request',
    returns: { 200: DeliveryDetail },
  }),
  redeliverToWebhook: operation(routes.redeliverToWebhook, {
    summary: 'Redeliver, even while disabled',
    returns: { 202: Delivery },
    errors: ['DELIVERY_CANCELED', 'REDELIVERY_LIMIT_REACHED'],
  }),
}
