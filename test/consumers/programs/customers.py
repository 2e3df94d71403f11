"""Creates, updates and lists customers with the generated package in a folder."""
import json
import os
import sys

sys.path.insert(0, sys.argv[1])
import openapi_client
from openapi_client.api.customers_api import CustomersApi
from openapi_client.models import AddressInput, CustomerCreate, CustomerUpdate

configuration = openapi_client.Configuration(host=os.environ["API_URL"])
configuration.access_token = os.environ["API_KEY"]
api = CustomersApi(openapi_client.ApiClient(configuration))
made = api.create_customer(CustomerCreate(name="Ana", tags=["vip"], address=AddressInput(city="Lisboa")))
updated = api.update_customer(made.id, CustomerUpdate(notes="Met at the fair."))
pages = [api.list_customers(limit=1, sort="-createdAt")]
pages.append(api.list_customers(limit=1, cursor=pages[0].pagination.next_cursor))
try:
    api.create_customer(CustomerCreate(email="nobody"))
    refused = None
except openapi_client.ApiException as error:
    refused = json.loads(error.body)["code"]
names = [customer.name for page in pages for customer in page.data]
print(json.dumps({"id": made.id, "city": updated.address.city, "names": names, "refused": refused}))
