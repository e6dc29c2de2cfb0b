import { z } from 'zod'
import { PAGE } from '../resources/page.ts'
import { pod } from '../resources/pod.ts'
import { orderedPageQuery } from '../schemas/query.ts'
import { BASE, define, group, idParam } from './define.ts'

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
    params: z.object({ pod_id: idParam }),
    response: pod,
  }),
})
