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
    // That the service disabled it is told by nobody.
    refetchInterval: 5000,
  })

export const whyManagers =
  'Webhooks send what happens in this workspace to other places, so they are looked after by its owners and admins.'
