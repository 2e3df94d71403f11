// Creates, gets, updates and lists customers with the generated package, which has the service's URL from the document.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.CustomersApi;
import org.openapitools.client.model.AddressInput;
import org.openapitools.client.model.Customer;
import org.openapitools.client.model.CustomerCreate;
import org.openapitools.client.model.CustomerList;
import org.openapitools.client.model.CustomerUpdate;

class Customers {
    interface Call {
        Object run() throws ApiException;
    }

    static final ObjectMapper json = new ObjectMapper();

    /** The code in the body of a rejected request. */
    static String code(Call call) throws Exception {
        try {
            call.run();
            return null;
        } catch (ApiException error) {
            return json.readTree(error.getResponseBody()).get("code").asText();
        }
    }

    static List<String> names(CustomerList... lists) {
        List<String> found = new ArrayList<>();
        for (CustomerList list : lists) for (Customer customer : list.getData()) found.add(customer.getName());
        return found;
    }

    public static void main(String[] words) throws Exception {
        ApiClient client = new ApiClient();
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv("API_KEY")));
        CustomersApi api = new CustomersApi(client);

        AddressInput address = new AddressInput().city("Lisboa");
        CustomerCreate given = new CustomerCreate().name("Ana").addTagsItem("vip").address(address);
        Customer made = api.createCustomer(given, null, null, null);
        Customer got = api.getCustomer(made.getId(), null);
        Customer updated = api.updateCustomer(got.getId(), new CustomerUpdate().notes("Met at the fair."), null);
        CustomerList found = list(api, null, null, null, "vip", made);
        CustomerList first = list(api, 1, null, "-createdAt", null, null);
        CustomerList second = list(api, 1, first.getPagination().getNextCursor(), null, null, null);
        CustomerCreate nobody = new CustomerCreate().email("nobody");
        System.out.println(json.writeValueAsString(Map.of(
            "id", updated.getId(),
            "city", updated.getAddress().getCity(),
            "found", names(found),
            "names", names(first, second),
            "missing", code(() -> api.getCustomer("cus_00000000000000000000000000", null)),
            "refused", code(() -> api.createCustomer(nobody, null, null, null)))));
    }

    static CustomerList list(CustomersApi api, Integer limit, String cursor, String sort, String tag, Customer since)
            throws ApiException {
        var createdSince = since == null ? null : since.getCreatedAt();
        return api.listCustomers(
            limit, cursor, sort, createdSince, null, null, null, null, null, null, null, null, null, null, tag, null);
    }
}
