// Made by openapi-typescript from plant-store/openapi. Do not edit.
export interface paths {
    "/plants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a plant
         * @description Adds a plant under an id that is free. Members other than `id`, `name` and `tag` are dropped.
         */
        post: operations["createPlant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Plant: {
            name: string;
            tag?: string;
        };
        NewPlant: components["schemas"]["Plant"] & {
            /** Format: int64 */
            id: number;
        };
        /**
         * @description Why a request failed.
         *
         *     | `error` | name | message |
         *     | --- | --- | --- |
         *     | 40001 | `body_not_json` | The body is empty, or is not JSON in UTF-8. |
         *     | 40002 | `plant_invalid` | The body is not a NewPlant. Send an object with an integer id and a string name. |
         *     | 40003 | `id_taken` | A plant with this id exists. Choose another id. |
         *     | 40004 | `plant_refused` | The storage refused this plant. |
         *     | 40005 | `media_type_unsupported` | Send the body as application/json, without a Content-Encoding. |
         *     | 40006 | `body_too_large` | The body is larger than this server accepts. |
         *     | 40007 | `body_incomplete` | The body ended before it was complete, or arrived too slowly. |
         *     | 40101 | `token_missing` | The request has no bearer token. Send "Authorization: Bearer" and your token. |
         *     | 40102 | `token_invalid` | The bearer token was not accepted. |
         *     | 40301 | `scope_insufficient` | The bearer token does not allow to create plants. |
         *     | 40401 | `not_found` | There is nothing at this path. |
         *     | 40501 | `method_not_allowed` | This path answers POST only. |
         *     | 50000 | `internal_error` | The server failed. |
         *     | 50001 | `storage_failed` | The storage failed. The plant may or may not be stored. |
         *     | 50002 | `verification_failed` | The server could not verify the bearer token, which may well be good. |
         *     | 50003 | `body_unreadable` | The server lost the exact body before it could be read. |
         *     | 50301 | `busy` | The storage is busy or out of reach. Nothing was stored; try again. |
         *     | 50302 | `timed_out` | The storage did not answer in time. The plant may or may not be stored. |
         */
        Error: {
            /**
             * Format: int32
             * @description What went wrong, for programs. A number never changes its meaning.
             */
            error: number;
            /** @description What went wrong, for people. */
            message: string;
        };
    };
    responses: {
        /** @description another path */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description another method */
        MethodNotAllowed: {
            headers: {
                /**
                 * @description The methods that the path answers (RFC 9110 §10.2.1).
                 * @example POST
                 */
                Allow: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    createPlant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Plant to add to the store. The id may be any 64-bit integer and is kept exact. Strings have neither U+0000 nor lone surrogates. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPlant"];
            };
        };
        responses: {
            /** @description plant response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Rosa canina",
                     *       "tag": "shrub"
                     *     }
                     */
                    "application/json": components["schemas"]["Plant"];
                };
            };
            /** @description unexpected error */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description no token, or a bad one */
            401: {
                headers: {
                    /**
                     * @description The challenge of RFC 6750 §3; it has an `error` attribute when a token came.
                     * @example Bearer realm="plants", error="invalid_token"
                     */
                    "WWW-Authenticate": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description a good token that may not create plants */
            403: {
                headers: {
                    /**
                     * @description The challenge of RFC 6750 §3, with the `scope` that is needed.
                     * @example Bearer realm="plants", error="insufficient_scope", scope="plants:write"
                     */
                    "WWW-Authenticate": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description the server failed */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description the server is busy, or the storage late */
            503: {
                headers: {
                    /**
                     * @description Seconds to wait. Present only where sending the request again is safe.
                     * @example 1
                     */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
