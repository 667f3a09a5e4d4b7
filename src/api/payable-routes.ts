/** The routes whose build a pay request may name: each builds one transaction that the user's wallet signs. */
import { paths, payable } from './paths.ts'
import type { RoutePath } from './route.ts'

interface PayableRoute {
  /** Its name in the contract, such as `pools.swap`. */
  name: PayableName
  at: RoutePath
  /** The field of the path or body with the wallet that pays and signs. */
  account: string
}

export type PayableName = keyof typeof payable

export const PAYABLE_ROUTES: readonly PayableRoute[] = Object.entries(payable).map(([name, account]) => {
  const [noun = '', verb = ''] = name.split('.')
  const known: Readonly<Record<string, Readonly<Record<string, RoutePath>>>> = paths
  return { name: name as PayableName, at: known[noun]?.[verb] as RoutePath, account }
})

/** `POST /v2/pools/{address}/swaps` */
export const routeText = ([method, path]: RoutePath): string => `${method.toUpperCase()} ${path}`

/** Returns the route of a request and the parameters of its path; null for any other request. */
export function payableRouteOf(
  method: string,
  path: string,
): { route: PayableRoute; params: Record<string, string> } | null {
  for (const route of PAYABLE_ROUTES) {
    if (route.at[0].toUpperCase() !== method.toUpperCase()) continue
    const params = paramsOf(route.at[1], path)
    if (params !== null) return { route, params }
  }
  return null
}

/** The parameters of a path; null if it is not one of this template. */
function paramsOf(template: string, path: string): Record<string, string> | null {
  const [wanted, given] = [template.split('/'), path.split('/')]
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const value = given[i] ?? ''
    const [, name] = /^\{(\w+)\}$/.exec(part) ?? []
    if (name === undefined ? part !== value : !/^[\w.:-]{1,128}$/.test(value)) return null
    if (name !== undefined) params[name] = value
  }
  return params
}
