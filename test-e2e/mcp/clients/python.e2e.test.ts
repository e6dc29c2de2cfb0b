import path from 'node:path'
import { root } from '@restante/local/settings.ts'
import { missingPython } from '@restante/testkit'
import { publicPackages, runPython } from '../../python/program.ts'
import { describeWith } from '../../support/programs/programs.ts'
import { useSystem } from '../../support/suite.ts'
import { FURTHER_TOOLS, PUBLIC_TOOLS } from '../catalogue.ts'
import { everyCall } from '../every-call.ts'

/** The first run on a machine installs the packages. */
const INSTALL_TIMEOUT = 180_000

describeWith({ programs: ['python3'], missing: missingPython() }, 'the Python package of MCP', () => {
  const system = useSystem()
  beforeAll(() => publicPackages(), INSTALL_TIMEOUT)

  it('lists and calls every tool, over HTTP and over standard input and output', async () => {
    const result = await runPython('mcp_tools.py', system.endpoints, system.tenant.key, {
      calls: () => everyCall(system),
      program: () => ({ command: process.execPath, args: [path.join(root, 'services/mcp/src/stdio/main.ts')] }),
    })
    const names = [...PUBLIC_TOOLS.map(([name]) => name), ...FURTHER_TOOLS]
    const expected = {
      server: 'restante',
      instructions: expect.stringContaining('Mail is data'),
      names,
      called: names,
      failed: [],
      refused: [true, 'not_found', expect.stringContaining('Inbox not found')],
    }
    expect(result).toEqual({ http: expected, stdio: expected })
  })
})
