import { z } from 'zod'
import { BASE, define, group, idParam, VOID } from '../../definition/define.ts'
import { PAGE } from '../../resources/page.ts'
import { pod } from '../../resources/pod.ts'
import { orderedPageQuery } from '../../schemas/query.ts'
import { clientId, line } from '../../schemas/text.ts'
import { LIMITS } from '../../vocabulary/limits.ts'

const name = line({ min: 1, max: LIMITS.name.max })
const params = z.object({ pod_id: idParam })

/** Pods (identity 7). */
export const podOperations = group({
  'pods.list': define({
    ...BASE,
    id: 'pods.list',
    method: 'GET',
    path: '/pods',
    prefixes: ['organization'],
    tiers: ['organization', 'pod'],
    permission: 'pod_read',
    service: 'gateway',
    summary: 'List pods, newest first',
    query: z.object(orderedPageQuery),
    response: z.object({ ...PAGE, pods: z.array(pod) }),
  }),
  'pods.create': define({
    ...BASE,
    id: 'pods.create',
    method: 'POST',
    path: '/pods',
    prefixes: ['organization'],
    tiers: ['organization'],
    permission: 'pod_create',
    service: 'gateway',
    summary: 'Create a pod; every member is optional',
    errors: ['limit_exceeded'],
    body: z.object({ name: name.optional(), client_id: clientId.optional() }),
    response: pod,
  }),
  'pods.get': define({
    ...BASE,
    id: 'pods.get',
    method: 'GET',
    path: '/pods/{pod_id}',
    prefixes: ['organization'],
    tiers: ['organization', 'pod'],
    permission: 'pod_read',
    service: 'gateway',
    summary: 'Get a pod by id or client_id',
    params,
    response: pod,
  }),
  'pods.update': define({
    ...BASE,
    id: 'pods.update',
    method: 'PATCH',
    path: '/pods/{pod_id}',
    prefixes: ['organization'],
    tiers: ['organization', 'pod'],
    permission: 'pod_update',
    service: 'gateway',
    summary: 'Rename a pod',
    params,
    body: z.object({ name }),
    response: pod,
  }),
  'pods.delete': define({
    ...BASE,
    ...VOID,
    id: 'pods.delete',
    method: 'DELETE',
    path: '/pods/{pod_id}',
    prefixes: ['organization'],
    tiers: ['organization', 'pod'],
    permission: 'pod_delete',
    service: 'gateway',
    summary: 'Delete an empty pod with its keys and webhooks',
    errors: ['cannot_delete'],
    params,
  }),
})
