/** Turns a request to any route that builds into a proposal of the vault that its `approver` names. */
import type { Approver } from '../../../api/envelope.ts'
import type { FeeClaimKind } from '../../../api/fee-claims.ts'
import type { AnyRoute } from '../../../api/route.ts'
import type { Context } from '../../../context.ts'
import { claimSubject } from '../../fee-claims/create-fee-claim.ts'
import { actWords } from './act-words.ts'
import { proposeRequest } from './propose-request.ts'

interface RoutedRequest {
  route: AnyRoute
  /** Path with its query. */
  target: string
  /** The body as it was sent. */
  fields: Record<string, unknown>
  /** Path, query and body after validation. */
  input: Record<string, unknown>
  approver: Approver
}

/** Bytes of JSON up to which a request is kept to be built again; an image makes it larger. */
const MOST_REQUEST_BYTES = 256 * 1024
/** Acts on a pool depend on amounts that each of them changes, so that one is open at a time. */
const ONE_AT_A_TIME = / \/v2\/pools\/\{address\}\//
const CLAIM = 'POST /v2/pools/{address}/fee-claims'

function subjectOf(operation: string, target: string, { address, kind }: Record<string, unknown>): string | null {
  if (operation === CLAIM) return claimSubject({ address: String(address), kind: kind as FeeClaimKind })
  return ONE_AT_A_TIME.test(operation) ? `${operation.split(' ')[0]} ${target}` : null
}

export async function proposeRouted<D extends object>(
  context: Context,
  { route, target, fields, input, approver }: RoutedRequest,
  operate: (context: Context, input: Record<string, unknown>) => Promise<D>,
): Promise<D> {
  const operation = `${route.method.toUpperCase()} ${route.path}`
  const request = { method: route.method, target, fields }
  const isKept = JSON.stringify(request).length <= MOST_REQUEST_BYTES
  return proposeRequest(
    context,
    {
      approver,
      isSigned: input.mode === 'signed',
      operation,
      what: await actWords(context, { route, input }),
      request: isKept ? request : null,
      subject: subjectOf(operation, target, input),
    },
    (own) => operate(own, { ...input, mode: 'unsigned' }),
  )
}
