// Creates, gets, updates and lists customers with the generated class.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Threading.Tasks;
using Newtonsoft.Json;
using ProposalApi;

static class Customers
{
    /// The code in the body of a rejected request.
    static async Task<string> Code(Task<Customer> call)
    {
        try
        {
            await call;
            return null;
        }
        catch (ApiException<Problem> error)
        {
            return error.Result.Code;
        }
    }

    static async Task Run()
    {
        var http = new HttpClient();
        var key = Environment.GetEnvironmentVariable("API_KEY");
        http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", key);
        var api = new Client(http) { BaseUrl = Environment.GetEnvironmentVariable("API_URL") };

        var address = new AddressInput { City = "Lisboa" };
        var given = new CustomerCreate { Name = "Ana", Tags = new[] { "vip" }, Address = address };
        var made = await api.CreateCustomerAsync(null, null, null, given);
        var got = await api.GetCustomerAsync(made.Id, null);
        var updated = await api.UpdateCustomerAsync(got.Id, null, new CustomerUpdate { Notes = "Met at the fair." });
        var found = await List(api, tag: "vip", since: made.CreatedAt);
        var first = await List(api, limit: 1, sort: Sort.MinuscreatedAt);
        var second = await List(api, limit: 1, cursor: first.Pagination.NextCursor);
        Console.WriteLine(JsonConvert.SerializeObject(new
        {
            id = updated.Id,
            city = updated.Address.City,
            found = Names(found),
            names = Names(first).Concat(Names(second)),
            missing = await Code(api.GetCustomerAsync("cus_00000000000000000000000000", null)),
            refused = await Code(api.CreateCustomerAsync(null, null, null, new CustomerCreate { Email = "nobody" })),
        }));
    }

    static IEnumerable<string> Names(CustomerList list) => list.Data.Select(customer => customer.Name);

    static Task<CustomerList> List(
        Client api, int? limit = null, string cursor = null, Sort? sort = null, string tag = null,
        DateTimeOffset? since = null) =>
        api.ListCustomersAsync(
            limit, cursor, sort, since, null, null, null, null, null, null, null, null, null, null, tag, null);

    static void Main() => Run().GetAwaiter().GetResult();
}
