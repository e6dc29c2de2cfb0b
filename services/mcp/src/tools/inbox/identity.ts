import { z } from 'zod'
import { plain } from '../../answers/answer.ts'
import { modelDocument } from '../../answers/document.ts'
import { identity } from '../definition/outputs.ts'
import { defineTool } from '../definition/tool.ts'

export const authMe = defineTool({
  name: 'auth_me',
  title: 'Auth Me',
  description: 'Tell what your API key reaches: an organization, a pod or one inbox.',
  kind: 'reads',
  openWorld: false,
  input: z.object({}),
  output: identity,
  needs: ['auth.me'],
  run: async ({ api }) => {
    const { scope_type: scope, scope_id: id, ...others } = await api.call('auth.me', {})
    return plain(`The key reaches the ${scope} ${id}.`, modelDocument({ scope_type: scope, scope_id: id, ...others }))
  },
})
