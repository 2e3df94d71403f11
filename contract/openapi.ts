export const openApiDocument = (baseUrl: string) => ({ baseUrl });
