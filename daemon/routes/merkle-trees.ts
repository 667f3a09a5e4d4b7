/** Two specials of Merkle tree routes: a body that the worker thread parses, and an error for a proof path without a wallet. */
import { z } from '@hono/zod-openapi'
import { treeId } from '../../src/api/chain-scalars.ts'
import { validateInput } from '../../src/api/input-validation.ts'
import { MERKLE_TREES_TAG } from '../../src/api/merkle-trees.ts'
import { defineRoute } from '../../src/api/route.ts'
import { buildTreeFromBody, type TreeInput, treeFields } from '../../src/operations/merkle-trees/verbs.ts'
import { badRequest } from '../../src/platform/errors.ts'
import type { Mount } from '../mount.ts'
import type { Prepare } from '../pipeline/handler.ts'

export const prepareTree: Prepare<TreeInput> = async (kernel, raw) => {
  const built = await buildTreeFromBody(kernel, raw)
  return { ...validateInput(treeFields, built.fields), built }
}

/** A proof path without a wallet is an invalid request, not a missing record. */
const proofWithoutWallet = (path: string) =>
  defineRoute({
    at: ['get', path],
    tag: MERKLE_TREES_TAG,
    summary: 'Not a resource: the wallet is missing',
    description: 'Not in the document.',
    params: z.object({ id: treeId }),
    data: z.never(),
  })

export function mountWithoutWallet(mount: Mount): void {
  for (const path of ['/v2/merkle-trees/{id}/proofs', '/v2/merkle-trees/{id}/proofs/']) {
    mount(proofWithoutWallet(path), async () => {
      throw badRequest('wallet is missing: the path is /v2/merkle-trees/{id}/proofs/{wallet}', { param: 'wallet' })
    })
  }
}
