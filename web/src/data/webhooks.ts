import { queryOptions } from '@tanstack/react-query'
import { api, readAll } from './api.ts'

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: () => readAll('listWebhooks'),
})

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', id],
    queryFn: () => api.getWebhook({ webhook_id: id }),
    // The live stream does not report that the service disabled a webhook.
    refetchInterval: 5000,
  })

export const whyManagers = 'Webhooks send workspace data to other services, so only owners and admins can manage them.'
