/** The routes that a pay request may name are those of the contract that build one unsigned transaction. */
import { z } from '@hono/zod-openapi'
import { describe, expect, it } from 'vitest'
import { PAYABLE_ROUTES, payableRouteOf, routeText } from '../../src/api/payable-routes.ts'
import { payableOperation, payableRoute } from '../../src/operations/pay-requests/build-payment.ts'
import { routes } from '../api/bodies.ts'

/** They build transactions of a series, or again what was proposed. */
const OTHERS = ['POST /v2/proposals/{id}/renewals', 'POST /v2/pay-requests/{id}/transactions']

describe('the routes of pay requests', () => {
  it('are all that build one unsigned transaction and need no scope', () => {
    const building = routes.filter(([, { method, scope, data }]) => {
      if (method === 'get' || scope !== undefined) return false
      const schema = JSON.stringify(z.toJSONSchema(data, { unrepresentable: 'any' }))
      return schema.includes('"const":"unsigned"') && schema.includes('"transaction":{')
    })
    const texts = building.map(([, { method, path }]) => routeText([method, path]))
    const named = PAYABLE_ROUTES.map(({ at }) => routeText(at))
    expect(texts.filter((text) => !OTHERS.includes(text)).toSorted()).toEqual(named.toSorted())
  })

  it.each(PAYABLE_ROUTES)(
    'take the wallet of $name in a field that is there, and have their operation',
    async (payable) => {
      const route = await payableRoute(payable.name)
      expect(await payableOperation(payable.name)).toBeTypeOf('function')
      expect([route.method, route.path]).toEqual(payable.at)
      expect({ ...route.params?.shape, ...route.body?.shape }).toHaveProperty(payable.account)
    },
  )

  it('are found by method and path, and nothing else is', () => {
    expect(payableRouteOf('post', '/v2/airdrops/abc/claims')?.params).toEqual({ id: 'abc' })
    for (const path of ['/v2/airdrops/a/b/claims', '/v2/airdrops//claims', '/v2/airdrops/../claims?x=1', '/v2/pools'])
      expect(payableRouteOf('POST', path), path).toBeNull()
    expect(payableRouteOf('GET', '/v2/sol-transfers')).toBeNull()
  })
})
