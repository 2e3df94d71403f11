"""Creates, gets, updates and lists customers with the generated package in a folder."""
import json
import os
import sys

sys.path.insert(0, sys.argv[1])
import proposal_api
from proposal_api.api.customers_api import CustomersApi
from proposal_api.models import AddressInput, CustomerCreate, CustomerUpdate

configuration = proposal_api.Configuration(host=os.environ["API_URL"])
configuration.access_token = os.environ["API_KEY"]
api = CustomersApi(proposal_api.ApiClient(configuration))


def code(call, *values):
    """The code in the body of a rejected request."""
    try:
        call(*values)
    except proposal_api.ApiException as error:
        return json.loads(error.body)["code"]


def names(*lists):
    return [customer.name for one in lists for customer in one.data]


made = api.create_customer(CustomerCreate(name="Ana", tags=["vip"], address=AddressInput(city="Lisboa")))
got = api.get_customer(made.id)
updated = api.update_customer(got.id, CustomerUpdate(notes="Met at the fair."))
found = api.list_customers(tag="vip", created_since=made.created_at)
first = api.list_customers(limit=1, sort="-createdAt")
second = api.list_customers(limit=1, cursor=first.pagination.next_cursor)
seen = {
    "id": updated.id,
    "city": updated.address.city,
    "found": names(found),
    "names": names(first, second),
    "missing": code(api.get_customer, "cus_00000000000000000000000000"),
    "refused": code(api.create_customer, CustomerCreate(email="nobody")),
}
print(json.dumps(seen))
