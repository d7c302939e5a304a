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
  WebhookUrl,
} from './deliveries.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Refs } from './tracker.ts'

const recordFields = {
  id: id('whk'),
  label: Type.String(),
  url: Type.String(),
  all_teams: Type.Boolean(),
  /** Empty when `all_teams` is true. */
  team_ids: Type.Array(id('team')),
  resource_types: Type.Array(ResourceType),
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

const fields = {
  label: Type.String({
    minLength: 1,
    maxLength: limits.webhookLabel,
    pattern: '\\S',
    'x-message': `must have 1 to ${limits.webhookLabel} characters, and not only spaces`,
  }),
  url: WebhookUrl,
  all_teams: Type.Boolean(),
  team_ids: Refs,
  resource_types: Type.Array(ResourceType, {
    minItems: 1,
    uniqueItems: true,
    'x-message': 'must hold one or more of Issue, Comment and Project, each once',
  }),
}
export const WebhookChange = Type.Partial(Type.Object(fields), closed)
export type WebhookChange = Static<typeof WebhookChange>
export const NewWebhook = Type.Object({ ...fields, team_ids: Type.Optional(Refs) }, closed)
export type NewWebhook = Static<typeof NewWebhook>

export const webhooks = {
  listWebhooks: operation(routes.listWebhooks, {
    summary: 'Webhooks of the workspace, newest first',
    query: Page,
    returns: { 200: list(Webhook) },
  }),
  createWebhook: operation(routes.createWebhook, {
    summary: 'Create a webhook; its secret is in the answer',
    body: NewWebhook,
    returns: { 201: CreatedWebhook },
    errors: ['WEBHOOK_LIMIT_REACHED'],
  }),
  getWebhook: operation(routes.getWebhook, { summary: 'Read a webhook', returns: { 200: Webhook } }),
  updateWebhook: operation(routes.updateWebhook, {
    summary: 'Change a webhook; what is pending goes to the new address',
    body: WebhookChange,
    returns: { 200: Webhook },
  }),
  deleteWebhook: operation(routes.deleteWebhook, {
    summary: 'Delete a webhook and cancel what is pending',
    returns: { 204: null },
  }),
  getWebhookSecret: operation(routes.getWebhookSecret, {
    summary: 'Show the secret that signs deliveries; the audit log says who looked',
    returns: { 200: WebhookSecret },
  }),
  rotateWebhookSecret: operation(routes.rotateWebhookSecret, {
    summary: 'Make a new secret; the old one stops at once, also for retries',
    returns: { 200: WebhookSecret },
  }),
  testWebhook: operation(routes.testWebhook, {
    summary: 'Send one signed Ping, also while disabled, and say what came of it',
    returns: { 200: PingResult },
    errors: ['RATE_LIMIT_EXCEEDED'],
  }),
  enableWebhook: operation(routes.enableWebhook, {
    summary: 'Enable a webhook; what was held is delivered',
    returns: { 200: Webhook },
  }),
  disableWebhook: operation(routes.disableWebhook, {
    summary: 'Disable a webhook; what is pending is held',
    returns: { 200: Webhook },
  }),
  getWebhookHealth: operation(routes.getWebhookHealth, {
    summary: 'How a webhook has done in the last 14 days, when it failed last, and what waits for it',
    returns: { 200: EndpointHealth },
  }),
  listWebhookDeliveries: operation(routes.listWebhookDeliveries, {
    summary: 'Deliveries of a webhook with their attempts, newest first',
    query: DeliveryQuery,
    returns: { 200: list(Delivery) },
  }),
  getWebhookDelivery: operation(routes.getWebhookDelivery, {
    summary: 'One delivery, with what was last sent',
    returns: { 200: DeliveryDetail },
  }),
  redeliverToWebhook: operation(routes.redeliverToWebhook, {
    summary: 'Send a delivery once more, also while disabled',
    returns: { 202: Delivery },
    errors: ['DELIVERY_CANCELED', 'REDELIVERY_LIMIT_REACHED'],
  }),
}
